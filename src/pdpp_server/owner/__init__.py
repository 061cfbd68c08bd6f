"""What the owner does with a home: sources, grants, consent, sign-in, delivery, backup, restore, export, doctor."""
