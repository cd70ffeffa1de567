"""What goes wrong, in the program's words."""


class Error(Exception):
    """A failure of tacho. The message names the file or the address, what was expected, and what to do."""

    kind = "bug"


class UsageError(Error, ValueError):
    """Something was asked for that does not exist or does not fit."""

    kind = "usage"


class UnreadableError(Error, OSError):
    """An input cannot be read, or is not what it should be."""

    kind = "unreadable"


class OutputError(Error, OSError):
    """A result cannot be written."""

    kind = "output"


class RemoteError(Error):
    """An engine or a router refused, failed, or did not answer in time."""

    kind = "remote"


class NotComparableError(UsageError):
    """Two runs that cannot be compared."""

    kind = "usage"


_KINDS = {error.kind: error for error in (UsageError, UnreadableError, OutputError, RemoteError)}


def of_kind(kind, message):
    return _KINDS.get(kind, Error)(message)
