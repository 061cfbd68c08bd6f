"""The measured numbers, as ratios beside floors measured in the same run."""
