"""A real nsys without a GPU: Nsight Systems 2022.4 of Debian's section non-free, unpacked, with what its packages lack."""
from . import environments
from .progress import EnginesError

TARGET = "usr/lib/x86_64-linux-gnu/nsight-systems/target-linux-x64"
HOST = "usr/lib/nsight-systems/host-linux-x64"


def complete(folder):
    """Makes the unpacked packages work: nsys looks for its importer beside itself, and the importer for libraries of another
    name, or of the system, beside itself."""
    links = {TARGET.replace("target-", "host-"): "../../nsight-systems/host-linux-x64"}
    for name, library in (("libssh.so", "libssh.so.4"), ("libpfm.so.4", "libpfm.so.4")):
        links[f"{HOST}/{name}"] = f"../../x86_64-linux-gnu/{library}"
    for name, to in links.items():
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(to)
        if not (folder / name).exists():
            raise EnginesError(f"nsys: {folder / name} leads nowhere: its packages are laid out in another way")


def program():
    """The program. Says what to do where it is not installed, as `environments.find` does."""
    environments.find("nsys")
    return environments.ENVIRONMENTS["nsys"].packages_folder / TARGET / "nsys"
