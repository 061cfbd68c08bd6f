"""Numbers, sizes and times as people read them, in the terminal and on pages alike."""


def moment(time: str | None) -> str:
    """A stored time, to the minute."""
    return f"{time[:10]} {time[11:16]} UTC" if time else "never"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def size_text(size: int) -> str:
    if size < 1000:
        return counted(size, "byte")
    return f"{size / 1000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
