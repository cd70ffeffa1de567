"""Messages for the user: progress on standard error, failures in a few lines without a traceback."""
import sys

FAILED, USAGE, MISSING = 1, 2, 3  # exit statuses


class EnginesError(Exception):
    """A failure with an exit status; MISSING is for what the machine lacks: Python, network, an environment."""

    def __init__(self, text, status=FAILED):
        super().__init__(text)
        self.status = status


def say(text):
    print(text, file=sys.stderr, flush=True)
