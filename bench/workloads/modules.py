"""The modules behind the named workloads: one function a workload, in PyTorch's own terms.

`forward` functions take the tensors that `INPUTS` lists; parameters are inputs too, so that one form serves all.
"""

import math

import torch
from torch.nn import functional as F

# name -> (shapes of the inputs, function)
WORKLOADS = {}


def workload(*shapes):
    def keep(function):
        WORKLOADS[function.__name__] = (shapes, function)
        return function

    return keep


# Products.
@workload((256, 192), (192, 320))
def matmul(a, b):
    return a @ b


@workload((8, 64, 48), (8, 48, 80))
def matmul_batched(a, b):
    return torch.bmm(a, b)


@workload((96, 1000), (64, 1000), (64,))
def linear_bias_gelu(x, weight, bias):
    return F.gelu(F.linear(x, weight, bias))


@workload((64, 128), (512, 128), (512,), (128, 512), (128,))
def mlp_residual(x, up, up_bias, down, down_bias):
    return x + F.linear(torch.relu(F.linear(x, up, up_bias)), down, down_bias)


@workload((64, 128), (128, 128), (128, 128))
def two_projections(x, query, key):
    return F.linear(x, query), F.linear(x, key)


@workload((64, 128), (32, 128), (96, 128))
def two_batches(x, y, weight):
    return F.linear(x, weight), F.linear(y, weight)


@workload((64, 128), (256, 128), (256, 128), (128, 256))
def swiglu(x, gate, up, down):
    return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down)


@workload((48, 64), (64, 56), (56, 40))
def three_operands(a, b, c):
    return torch.einsum("ij,jk,kl->il", a, b, c)


@workload((128, 256), (64, 256))
def scaled_scores(query, key):
    return (query @ key.t()) / math.sqrt(256) * 0.5


@workload((40, 64), (64, 64))
def quadratic_form(x, a):
    return torch.einsum("bi,ij,bj->b", x, a, x)


# Normalisation and reductions.
@workload((128, 1000))
def softmax(x):
    return torch.softmax(x, dim=-1)


@workload((128, 1000))
def log_softmax(x):
    return torch.log_softmax(x, dim=-1)


@workload((128, 1000))
def logsumexp(x):
    return torch.logsumexp(x, dim=-1)


@workload((64, 32, 50))
def softmax_middle(x):
    return torch.softmax(x, dim=1)


@workload((128, 512), (512,), (512,))
def layer_norm(x, weight, bias):
    return F.layer_norm(x, (512,), weight, bias)


@workload((128, 512), (128, 512), (512,), (512,))
def residual_layer_norm(x, y, weight, bias):
    return F.layer_norm(x + y, (512,), weight, bias)


@workload((128, 512), (512,))
def rms_norm(x, weight):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight


@workload((16, 32, 20, 20), (32,), (32,), (32,), (32,))
def batch_norm_inference(x, mean, var, weight, bias):
    return F.batch_norm(x, mean, var, weight, bias)


@workload((8, 32, 16, 16), (32,), (32,))
def group_norm(x, weight, bias):
    return F.group_norm(x, 8, weight, bias)


@workload((128, 300))
def normalise_l2(x):
    return x / torch.linalg.vector_norm(x, dim=-1, keepdim=True)


@workload((128, 300))
def normalise_l1(x):
    return x / x.abs().sum(-1, keepdim=True)


@workload((96, 200))
def variance_from_moments(x):
    return (x * x).mean(-1) - x.mean(-1) ** 2


@workload((64, 400))
def row_maxima(x):
    return x.amax(-1)


@workload((32, 16, 24))
def global_max_and_mean(x):
    return x.amax((1, 2)), x.mean((1, 2))


@workload((64, 100))
def cumulative_sum(x):
    return torch.cumsum(x, dim=1)


@workload((64, 100))
def row_argmax(x):
    return torch.argmax(x, dim=1)


# Attention.
@workload((2, 4, 64, 32), (2, 4, 64, 32), (2, 4, 64, 32))
def attention(query, key, value):
    return torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(32), dim=-1) @ value


@workload((2, 4, 64, 32), (2, 4, 64, 32), (2, 4, 64, 32))
def attention_causal(query, key, value):
    scores = query @ key.transpose(-2, -1) * 0.125
    mask = torch.ones(64, 64, dtype=torch.bool).tril()
    return torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1) @ value


@workload((64, 48), (80, 48), (80, 40))
def attention_one_head(query, key, value):
    return torch.softmax(query @ key.t(), dim=-1) @ value


@workload((2, 64, 128), (128, 128), (128, 128), (128, 128), (128, 128))
def attention_block(x, wq, wk, wv, wo):
    def split(y):
        return y.view(2, 64, 4, 32).transpose(1, 2)

    query, key, value = split(x @ wq), split(x @ wk), split(x @ wv)
    mixed = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(32), dim=-1) @ value
    return x + mixed.transpose(1, 2).reshape(2, 64, 128) @ wo


# Losses and pointwise chains.
@workload((96, 50), (96, 50))
def cross_entropy_soft(logits, target):
    return -(target * torch.log_softmax(logits, -1)).sum(-1).mean()


@workload((128, 64), (128, 64))
def binary_cross_entropy(p, y):
    return -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()


@workload((128, 64), (128, 64))
def kl_divergence(p, q):
    return (p * (torch.log(p) - torch.log(q))).sum(-1)


@workload((64, 32), (64, 32), (64, 32), (64, 32))
def kl_gaussians(mean_p, std_p, mean_q, std_q):
    ratio = (std_p**2 + (mean_p - mean_q) ** 2) / (2 * std_q**2)
    return (torch.log(std_q / std_p) + ratio - 0.5).sum(-1)


@workload((64, 32), (64, 32), (64, 32))
def gaussian_nll(mean, var, y):
    return (0.5 * (torch.log(var * (2 * math.pi)) + (y - mean) ** 2 / var)).mean()


@workload((128, 64), (128, 64))
def mean_squared_error(x, y):
    return ((x - y) ** 2).mean()


@workload((128, 64), (128, 64))
def cosine_similarity(x, y):
    return (x * y).sum(-1) / (torch.sqrt((x * x).sum(-1)) * torch.sqrt((y * y).sum(-1)))


@workload((96, 64), (96, 64), (96, 1))
def log_bilinear_odds(a, b, c):
    return torch.log(a) + torch.log(b) - torch.log(c)


@workload((96, 64), (96, 64), (96, 64))
def log_product_likelihood(a, b, c):
    return torch.log(a * b / c)


@workload((96, 64), (96, 64))
def boltzmann_product(energy, field):
    return torch.exp(-energy) * torch.exp(field)


@workload((96, 64), (96, 64))
def pairwise_potential(x, y):
    return torch.exp(x - y) * torch.exp(y)


@workload((96, 64), (96, 64), (96, 64))
def three_potentials(x, y, z):
    return torch.exp(x) * torch.exp(y) * torch.exp(z) + x * x * x


@workload((96, 64), (96, 64))
def parallel_resistance(r, s):
    return 1 / (1 / r + 1 / s)


@workload((96, 64), (96, 64), (96, 1))
def weighted_mean(a, b, w):
    return a / w + b / w


@workload((96, 64), (96, 64), (96, 64))
def ratio_of_sums(a, b, c):
    return (a + b) / c + (a * b) / (a * c)


@workload((96, 64), (96, 64))
def rescaled(x, scale):
    return x * scale / scale - x


@workload((96, 64), (96, 64), (96, 1))
def odds_ratio(p, q, total):
    return (p / total) / (q / total)


@workload((96, 64), (96, 64), (96, 1))
def importance_weights(target, proposal, scale):
    return (target * scale) / (proposal * scale) * target


@workload((96, 64), (96, 64), (96, 64))
def common_factor(a, b, c):
    return a * b + a * c


@workload((96, 64), (96, 64), (96, 64), (96, 64))
def polynomial_features(a, b, c, d):
    return a * (b + c) + d * (b + c) + (a + b) ** 2


@workload((200, 64), (64,))
def horner(x, c):
    return x * x * x * c + x * x * c + x * 3 + 0


@workload((64, 300), (64, 1))
def scaled_sum(x, scale):
    return (x * scale).sum(-1)


@workload((64, 300), (64, 1), (1,))
def scaled_mean(x, scale, shift):
    return (x * scale / 2 * 4).mean(-1) + shift


@workload((64, 200))
def gelu_tanh(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


@workload((64, 200), (64, 200))
def swish_gate(x, y):
    return x * torch.sigmoid(x) + y * torch.sigmoid(x)


@workload((64, 60), (64, 60))
def two_activations(x, y):
    return torch.tanh(x), torch.tanh(y)


@workload((64, 60), (32, 60))
def exp_of_two(x, y):
    return torch.exp(x), torch.exp(y)


@workload((40, 30, 8), (40, 12, 8))
def concatenate(x, y):
    return torch.cat([x, y], dim=1) * 2


@workload((50, 70))
def flip_and_shift(x):
    return torch.flip(x, [1]) + torch.roll(x, 1, 0)


@workload((4, 6, 40))
def moving_average(x):
    return (x[:, :, :-3] + x[:, :, 1:-2] + x[:, :, 2:-1] + x[:, :, 3:]) / 4


# Where only a part of what is computed is used.
@workload((4, 20, 32), (50, 32))
def last_token_logits(x, weight):
    return F.linear(x, weight)[:, -1]


@workload((48, 60), (48, 60))
def first_half(x, y):
    return torch.tanh(x * y)[:, :30] * 2


@workload((40, 30, 8), (40, 12, 8))
def one_part_of_two(x, y):
    return torch.cat([torch.sigmoid(x), torch.sigmoid(y)], dim=1)[:, 30:]


@workload((4, 12, 20, 20), (4, 12, 20, 20))
def centre_crop(x, y):
    return (x.exp() + y)[:, :, 4:-4, 4:-4].mean((2, 3))


# With constants that meet once producers are inlined.
@workload((64, 1, 32))
def mean_of_one_token(x):
    return x.mean(1)


@workload((64, 128))
def exp_with_zero_start(x):
    return torch.zeros_like(x) + x.exp()


@workload((64, 128), (64, 128))
def gate_of_ones(x, y):
    return (torch.ones_like(x) * 0.5 + 0.5) * x * y


@workload((64, 128), (64, 128))
def full_mask(x, y):
    return torch.where(torch.arange(128) < 128, x, y)


@workload((4, 6, 20))
def pad_and_crop(x):
    return F.pad(x, (2, 2))[..., 2:-2].exp()
