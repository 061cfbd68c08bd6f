"""The tests: promises, scenarios through the public doors, units, contracts and budgets."""
