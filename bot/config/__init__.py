"""The configuration: `config.yaml`, read strictly, and the few values that only the environment may give."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from bot.config import source as yaml_source
from bot.config.models import (
    WITHIN,
    AlertsConfig,
    ChannelConfig,
    Config,
    DeliveryConfig,
    InboxConfig,
    PolicyConfig,
    ScheduleConfig,
    SearchConfig,
    SelectionConfig,
    TopicConfig,
)
from bot.config.secrets import Secrets, read_secrets
from bot.config.suggest import did_you_mean
from bot.errors import ConfigError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

__all__ = [
    "AlertsConfig",
    "ChannelConfig",
    "Config",
    "DeliveryConfig",
    "InboxConfig",
    "PolicyConfig",
    "ScheduleConfig",
    "SearchConfig",
    "Secrets",
    "SelectionConfig",
    "TopicConfig",
    "load",
    "parse",
    "read_secrets",
]

_NO_KEYS = tuple(name for name, field in Config.model_fields.items() if field.exclude)
"""What a `Config` holds beside the keys of its file."""
_UNKNOWN_KEY = "extra_forbidden"
_SHORT = {
    "int_type": "a whole number was meant",
    "bool_type": "true or false was meant",
    "dict_type": "a group of keys was meant (indent them below)",
    "model_type": "a group of keys was meant (indent them below)",
    "tuple_type": "a list was meant: put each item on a line that starts with -",
    "date_type": "a date was meant: 2026-12-25",
    "date_from_datetime_parsing": "a date was meant: 2026-12-25",
    "missing": "this key is needed",
}


def load(path: Path, environ: Mapping[str, str] | None = None) -> Config:
    """Read the configuration file at `path`; `DATABASE_URL` of the environment goes before its `database`.

    Raises ConfigError with one line for each fault: file, line, key path, reason and suggestion.
    """
    environ = os.environ if environ is None else environ
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: no such file; name one with --config, or start in the folder that has config.yaml"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read ({error}); it must be a UTF-8 text file") from error
    config = parse(text, name=str(path), base=path.resolve().parent)
    if environ.get("DATABASE_URL"):
        said = {"database": environ["DATABASE_URL"], "database_source": "DATABASE_URL"}
        return config.model_copy(update=said)
    return config.model_copy(update={"database": _anchored(config.database, config.base)})


def _anchored(url: str, base: Path) -> str:
    """The URL with a relative SQLite file put beside the configuration, wherever the bot is started.

    Another folder's empty file would know nothing of what was posted, and all of it would be posted again.
    """
    scheme, found, rest = url.partition(":///")
    file, mark, options = rest.partition("?")
    if not (found and scheme.startswith("sqlite") and file) or file.startswith((":", "file:")) or base == Path.cwd():
        return url
    return f"{scheme}:///{base / file}{mark}{options}"


def parse(text: str, *, name: str = "config.yaml", base: Path | None = None) -> Config:
    """Read the configuration from a string. Raises ConfigError as `load` does."""
    source = yaml_source.read(text)
    faults = list(source.faults)
    value = {} if source.value is None else source.value
    config = None
    if not isinstance(value, dict):
        faults.append(yaml_source.Fault(line=1, path=(), reason="the file must be keys with values, such as channels:"))
    elif ours := [key for key in _NO_KEYS if key in value]:
        faults += [_unknown_key((key,), Config, source) for key in ours]
    else:
        try:
            config = Config.model_validate(value)
        except ValidationError as error:
            known = {fault.path for fault in faults}
            faults += [fault for details in error.errors() if (fault := _fault(details, source)).path not in known]
    if faults or config is None:
        faults.sort(key=lambda fault: fault.line)
        raise ConfigError("\n".join(fault.render(name) for fault in faults))
    said = f"{name}:{source.line(('database',))}: database"
    return config.model_copy(update={"base": base or Path(), "database_source": said})


def _fault(details: ErrorDetails, source: yaml_source.Source) -> yaml_source.Fault:
    path = tuple(part for part in details["loc"] if part != "[key]") + details.get("ctx", {}).get(WITHIN, ())
    if details["type"] == _UNKNOWN_KEY:
        return _unknown_key(path, _model_at(path[:-1]), source)
    reason = _SHORT.get(details["type"]) or details["msg"].removeprefix("Value error, ")
    found = details.get("input")
    if isinstance(found, bool) and "true or false" not in reason:
        reason += f"; YAML reads this as {str(found).lower()}"
    return yaml_source.Fault(line=source.line(path), path=path, reason=reason)


def _unknown_key(path: yaml_source.Path, model: Any, source: yaml_source.Source) -> yaml_source.Fault:
    known = [name for name, field in getattr(model, "model_fields", {}).items() if not field.exclude]
    near = did_you_mean(str(path[-1]), known)
    return yaml_source.Fault(
        line=source.line(path), path=path, reason=f"unknown key{near}; known here: {', '.join(known)}"
    )


def _model_at(path: yaml_source.Path) -> Any:
    model: Any = Config
    for part in path:
        if isinstance(part, int):
            continue
        annotation = model.model_fields[part].annotation
        arguments = getattr(annotation, "__args__", ())
        model = arguments[0] if arguments and not hasattr(annotation, "model_fields") else annotation
    return model
