"""Refusals that end the import with a message instead of a stack trace."""

import os
import traceback

# The exit codes of the command line.
EXIT_USAGE = 2
EXIT_REFUSED = 3
EXIT_ENVIRONMENT = 4
EXIT_BUG = 70
EXIT_INTERRUPTED = 130


class Refused(Exception):
    """A refusal: a message, the place it is about ("file.py:12" or ""), notes, and the process's exit code."""

    def __init__(self, message, place="", notes=(), exit_code=EXIT_REFUSED):
        super().__init__(message)
        self.message = message
        self.place = place
        self.notes = list(notes)
        self.exit_code = exit_code

    def render(self):
        """`place: error: message` and the notes."""
        head = f"{self.place}: " if self.place else ""
        return "\n".join([f"{head}error: {self.message}", *(f"note: {note}" for note in self.notes)])


def show_path(path, root):
    """A path as messages and graphs name it: relative to root, or its last component."""
    relative = os.path.relpath(path, root)
    return os.path.basename(path) if relative.startswith("..") else relative


def first_line(error):
    """The first line of an exception's text, with its type when the text alone says little."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    name = type(error).__name__
    return f"{name}: {lines[0]}" if lines else name


def user_place(error, path):
    """Where in the user's file an exception passed last: "file.py:12", or just the file."""
    name = os.path.basename(path)
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{name}:{error.lineno}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if os.path.abspath(f.filename) == os.path.abspath(path)]
    return f"{name}:{frames[-1].lineno}" if frames else name
