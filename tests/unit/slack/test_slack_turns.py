import threading

import pytest

from bot.slack.turns import Turns


def test_only_so_many_are_in_at_once_and_all_get_their_turn():
    turns, lock = Turns(2, patience=30), threading.Lock()
    inside, most, done = [], [], []

    def work(number):
        with turns.taken():
            with lock:
                inside.append(number)
                most.append(len(inside))
            threading.Event().wait(0.005)
            with lock:
                inside.remove(number)
                done.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(done) == list(range(12))
    assert max(most) <= 2


def test_who_hangs_does_not_keep_others_out_for_ever():
    turns = Turns(1, patience=0.01)
    with turns.taken(), turns.taken():
        pass


def test_an_error_gives_the_turn_back():
    turns = Turns(1, patience=30)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), turns.taken():
            1 / 0  # noqa: B018 - the error is the point
