"""How things are written in files, whoever wrote them: lines, tags, charsets, times, amounts."""
