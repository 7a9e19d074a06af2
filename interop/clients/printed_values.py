"""The lines `Name: value` of a printed file."""

import re
from pathlib import Path


def printed_values(file):
    lines = Path(file).read_text().splitlines()
    return dict(re.split(r":\s+", line, maxsplit=1) for line in lines if ": " in line)
