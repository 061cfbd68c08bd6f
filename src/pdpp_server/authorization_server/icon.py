"""GET /icon.svg: what a client shows beside our name. A folder with a keyhole."""

SVG = b"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="Personal data server">
<path d="M6 16a6 6 0 0 1 6-6h12l7 8h21a6 6 0 0 1 6 6v24a6 6 0 0 1-6 6H12a6 6 0 0 1-6-6z" fill="#1f5f5b"/>
<circle cx="32" cy="33" r="6" fill="#f4efe6"/><path d="m32 35 5 12H27z" fill="#f4efe6"/></svg>
"""
