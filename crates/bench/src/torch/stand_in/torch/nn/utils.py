"""Helpers of torch.nn that change layers: none can be used."""
