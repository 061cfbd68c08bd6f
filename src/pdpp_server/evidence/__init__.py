"""Pure shaping: values in, bounded and citable text out. No I/O, no clock, no grants."""
