"""An emulated cell as plain data: disks, caches, plans, alerts, and how it is stored."""
