"""What the recorders in this folder use from tools/engines: the environment, the model, processes."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from engines_lib import environments, model, process, servers  # noqa: E402,F401
from engines_lib.progress import EnginesError as RecordError  # noqa: E402,F401
from engines_lib.progress import say  # noqa: E402,F401
