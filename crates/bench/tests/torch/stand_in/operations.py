import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x):
        return x


def same(tensor, *shape, dtype=torch.float32):
    assert tuple(tensor.shape) == shape and tensor.dtype is dtype, (tensor, shape)


def get_init_inputs():
    x, y = torch.rand(2, 3, 4), torch.rand(4, 5)
    same(x @ y, 2, 3, 5)
    same(torch.matmul(x[0, 0], y), 5)
    same(torch.matmul(y.t(), x[0].t()), 5, 3)
    same(torch.matmul(x[0, 0], x[0, 1]))
    same(torch.bmm(x, x.transpose(1, 2)), 2, 3, 3)
    same(torch.einsum("bij,jk->bik", x, y), 2, 3, 5)
    same(x + torch.rand(3, 1), 2, 3, 4)
    same(2 * x - 1, 2, 3, 4)
    same(x > 0.5, 2, 3, 4, dtype=torch.bool)
    same(torch.where(x > 0, x, 0.0), 2, 3, 4)
    same(x.sum(), )
    same(torch.sum(x, dim=1), 2, 4)
    same(torch.mean(x, dim=(0, 2), keepdim=True), 1, 3, 1)
    same(torch.max(x, dim=2)[0], 2, 3)
    same(torch.max(x, dim=2).indices, 2, 3, dtype=torch.int64)
    same(torch.argmax(x, dim=1), 2, 4, dtype=torch.int64)
    same(torch.norm(x, p=2, dim=1, keepdim=True), 2, 1, 4)
    same(torch.cumsum(x, dim=1), 2, 3, 4)
    same(torch.cat((x, x), dim=1), 2, 6, 4)
    same(torch.stack([x, x]), 2, 2, 3, 4)
    same(torch.diag(torch.rand(4)), 4, 4)
    same(torch.triu(y), 4, 5)
    same(F.softmax(x, dim=-1), 2, 3, 4)
    same(F.gelu(x), 2, 3, 4)
    same(F.pad(x, (1, 2)), 2, 3, 7)
    same(F.cross_entropy(torch.rand(8, 10), torch.randint(0, 10, (8,))))
    same(F.mse_loss(x, x, reduction="none"), 2, 3, 4)
    image = torch.rand(2, 3, 32, 48)
    same(F.conv2d(image, torch.rand(8, 3, 3, 5), stride=2, padding=(1, 2)), 2, 8, 16, 24)
    same(nn.Conv2d(3, 8, 3, dilation=2)(image), 2, 8, 28, 44)
    same(nn.Conv2d(3, 6, 3, groups=3, padding="same")(image), 2, 6, 32, 48)
    same(nn.ConvTranspose2d(3, 8, 3, stride=2, padding=1, output_padding=1)(image), 2, 8, 64, 96)
    same(nn.Conv1d(3, 4, 5)(torch.rand(2, 3, 20)), 2, 4, 16)
    same(nn.Conv3d(1, 2, (1, 2, 3))(torch.rand(1, 1, 4, 5, 6)), 1, 2, 4, 4, 4)
    same(nn.MaxPool2d(3, stride=2, padding=1, dilation=2)(image), 2, 3, 15, 23)
    same(nn.MaxPool2d(2, ceil_mode=True)(torch.rand(1, 1, 5, 5)), 1, 1, 3, 3)
    same(nn.AvgPool1d(4)(torch.rand(2, 3, 20)), 2, 3, 5)
    same(nn.AdaptiveAvgPool2d((1, None))(image), 2, 3, 1, 48)
    same(nn.BatchNorm2d(3)(image), 2, 3, 32, 48)
    same(nn.Embedding(10, 6)(torch.randint(0, 10, (2, 7))), 2, 7, 6)
    same(nn.Flatten()(image), 2, 3 * 32 * 48)
    same(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))(x), 2, 3, 1)
    try:
        x @ x
    except RuntimeError:
        pass
    else:
        raise AssertionError("these do not multiply")
    return []


def get_inputs():
    return [torch.rand(2, 2)]
