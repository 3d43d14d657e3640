"""Who hears that a template of the team's could not be used."""

from __future__ import annotations

from threading import Lock

import structlog

from bot.delivery.person import Alarm
from bot.render.templates import VALUES

_log = structlog.get_logger("bot.templates")


class Fallbacks:
    """Tells each fault once: to the log, and as an alert, which `status` shows too. Early faults wait for the alarm."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._alarm: Alarm | None = None
        self._met: dict[tuple[str, str], None] = {}

    def note(self, template: str, reason: str) -> None:
        """The built-in `template` stood in for the team's, for this reason."""
        with self._lock:
            if (template, reason) in self._met:
                return
            if len(self._met) >= _KEPT:
                self._met.clear()
            self._met[template, reason] = None
            alarm = self._alarm
        _log.warning("template_not_used", template=template, reason=reason)
        if alarm is not None:
            _tell(alarm, template, reason)

    def tell(self, alarm: Alarm) -> None:
        """Use this alarm from now on; what was told of templates before may have been mended meanwhile."""
        with self._lock:
            self._alarm = alarm
            met = list(self._met)
        for template in VALUES:
            alarm.clear(_cause(template))
        for template, reason in met:
            _tell(alarm, template, reason)

    def forget(self) -> None:
        """The templates are read anew: old faults are over, and those that are still there are told again."""
        with self._lock:
            alarm, self._met = self._alarm, {}
        if alarm is not None:
            for template in VALUES:
                alarm.clear(_cause(template))


_KEPT = 200
"""Reasons may quote a digest, so there is no end to them."""


def _cause(template: str) -> str:
    return f"template:{template}"


def _tell(alarm: Alarm, template: str, reason: str) -> None:
    text = (
        f"Your template {template} was not used, the built-in one stood in for it. {reason}\n"
        "Mend it, run digest-bot check, and send the bot SIGHUP or start it again."
    )
    alarm.raise_alert(_cause(template), text)
