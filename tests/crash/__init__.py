"""Nothing is lost: processes killed at any moment, full and read-only disks, two writers."""
