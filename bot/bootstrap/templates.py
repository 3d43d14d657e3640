"""Whether a configuration's templates can be used: what `digest-bot check` says, and what a reload asks."""

from __future__ import annotations

from collections.abc import Iterator

from bot.bootstrap.archive import load_vocabulary
from bot.bootstrap.policies import templates_folder
from bot.config import Config
from bot.render.sample import check_templates


def template_faults(config: Config) -> Iterator[str]:
    """The faults of all templates that the configuration names, each with folder, template, line and block.

    Every template is rendered with the nastiest entry we know: that takes about a second. Raises ConfigError.
    """
    words = load_vocabulary(config)
    folders = {templates_folder(config, channel) for channel in config.channels} | {None}
    for folder in sorted(folders, key=str):
        if folder is not None and not folder.is_dir():
            yield f"{folder} is no folder: correct templates in the configuration"
            continue
        for fault in check_templates(folder, vocabulary=words):
            yield fault if folder is None else f"{folder}: {fault}"
