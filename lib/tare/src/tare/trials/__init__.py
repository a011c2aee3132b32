"""What is measured, in which order, and the measuring.

``design``, ``plan``, ``levels`` and ``trial`` are pure. ``run`` is the loop; the service, the loads,
the sampler and the clock are passed in, and each finished trial is handed to whoever keeps it.
"""
