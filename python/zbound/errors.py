"""Everything that can go wrong, as one small tree under `ZboundError`.

A solver that stops early is not an error: its result says so in `status`. A file that cannot be
opened is the `OSError` that `open` would raise.
"""

from __future__ import annotations

__all__ = [
    "CertificateError",
    "FeaturesError",
    "InternalError",
    "MemoryLimitError",
    "ModelError",
    "NotApplicableError",
    "ParseError",
    "SettingError",
    "StoppedError",
    "ZboundError",
]


class ZboundError(Exception):
    """Base class of every error of this package."""


class ModelError(ZboundError, ValueError):
    """A model that cannot be built; the message names the offending entry."""


class ParseError(ModelError):
    """A file that cannot be read as a model; the message starts with `file:line:`."""


class SettingError(ZboundError, ValueError):
    """An argument outside its legal range; the message names it and the range."""


class FeaturesError(SettingError):
    """Features that are malformed or cannot represent the model."""


class NotApplicableError(ZboundError, ValueError):
    """An operation that does not apply to this model."""


class MemoryLimitError(ZboundError, MemoryError):
    """The job needs more memory than `memory_limit` allows."""


class StoppedError(ZboundError):
    """Exact inference was stopped: it has no partial answer to give."""


class CertificateError(ZboundError):
    """A certificate that does not prove what it claims."""


class InternalError(ZboundError, RuntimeError):
    """A bug in zbound; please report it."""
