"""The corpus of other people's traces, which is not part of the project."""
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def corpus(what):
    """Its folder: TACHO_CORPUS, else ../shared/traces beside the source tree. None if it is missing; then a line says that
    `what` was not tested."""
    folder = pathlib.Path(os.environ.get("TACHO_CORPUS") or ROOT.parent / "shared/traces")
    if folder.is_dir():
        return folder
    print(f"*** NOT TESTED: {what}: no corpus of real traces at {folder} (set TACHO_CORPUS)", flush=True)
    return None
