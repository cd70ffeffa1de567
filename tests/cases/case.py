"""One case from the field: runs tacho in its folder and looks at what it prints."""
import json
import pathlib
import subprocess

from compare import check, only


class Case:
    def __init__(self, tacho, folder):
        self.tacho, self.folder, self.name = str(pathlib.Path(tacho).resolve()), folder, folder.name

    def run(self, *arguments, timeout=120):
        """tacho ARGUMENTS: standard output and error as text, and the exit status."""
        return subprocess.run([self.tacho, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True, timeout=timeout)

    def check(self, what, got, want):
        check(f"{self.name}: {what}", got, want)

    def says(self, *arguments, status, words=(), never=()):
        """Checks the exit status of tacho ARGUMENTS and which words its screen has, and has not; returns the screen as one line."""
        done = self.run(*arguments)
        screen = " ".join((done.stdout + done.stderr).split())
        self.check(f"{' '.join(arguments)}: status", done.returncode, status)
        for word in words:
            self.check(f"{' '.join(arguments)}: says {word!r}", word if word in screen else screen, word)
        for word in never:
            self.check(f"{' '.join(arguments)}: does not say {word!r}", word in screen, False)
        return screen

    def analyze(self, *arguments, status=0):
        """The document of tacho analyze --json ARGUMENTS."""
        done = self.run("analyze", "--json", *arguments)
        self.check(f"analyze {' '.join(arguments)}: status", done.returncode, status)
        return json.loads(done.stdout)

    def trace(self, *arguments, status=0):
        """The only trace of tacho analyze --json ARGUMENTS."""
        return only(self.analyze(*arguments, status=status), self.name)

    def rows(self, file, sql):
        """What tacho query FILE SQL gives, each row as an object."""
        done = self.run("query", "--json", file, sql)
        self.check(f"query {file}: status", done.returncode in (0, 4), True)
        return json.loads(done.stdout)["rows"]
