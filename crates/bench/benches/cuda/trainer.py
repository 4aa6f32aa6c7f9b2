"""Trains a layer of a language model without end: the neighbour that disturbs."""

import torch

torch.manual_seed(1)
layers = [torch.nn.TransformerEncoderLayer(896, 14, 4864, batch_first=True) for _ in range(4)]
model = torch.nn.Sequential(*layers).to("cuda", torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), 1e-4)
tokens = torch.randn(16, 1024, 896, device="cuda", dtype=torch.bfloat16)
while True:
    loss = model(tokens).float().square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
