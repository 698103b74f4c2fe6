"""An actor and a critic on a toy world of NumPy, by policy gradient."""

import numpy as np
import torch
from torch import nn


class Corridor:
    def reset(self):
        self.place = np.zeros(4, dtype=np.float32)
        return self.place

    def step(self, action):
        self.place = np.roll(self.place, action) + 0.5
        return self.place, float(action), bool(self.place.sum() > 5)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Linear(4, 8)
        self.actor = nn.Linear(8, 2)
        self.critic = nn.Linear(8, 1)

    def forward(self, observation):
        # fails A B D: shared (Linear) input
        hidden = torch.tanh(self.shared(observation))
        return self.actor(hidden).log_softmax(-1), self.critic(hidden).squeeze(-1)


def play(world, policy, device):
    observation, done, log_probs, values, rewards = world.reset(), False, [], [], []
    while not done:
        state = torch.from_numpy(observation).to(device)  # move B
        log_prob, value = policy(state)  # entered A B; fix A: policy; fix B: state
        action = torch.multinomial(log_prob.exp(), 1)
        log_probs.append(log_prob[action])
        values.append(value)
        observation, reward, done = world.step(action.item())
        rewards.append(reward)
    return torch.cat(log_probs), torch.stack(values), rewards, observation


def train(device):
    policy = ActorCritic().to(device)  # move A; model policy
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    for _ in range(2):
        log_probs, values, rewards, last = play(Corridor(), policy, device)
        returns = torch.tensor(np.cumsum(rewards[::-1])[::-1].copy(), dtype=torch.float32)
        returns = returns.to(device)  # move C
        advantage = returns - values.detach()  # raises C: returns, values
        policy_loss = -(log_probs * advantage).sum()
        value_loss = nn.SmoothL1Loss()(values, returns)
        loss = policy_loss + value_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    final = torch.as_tensor(last, device=device)  # move D
    with torch.no_grad():
        _, value = policy(final[None])  # entered D; fix D: final
    return value.cpu().numpy(), advantage.detach().cpu().numpy()  # move F G; raises F: value; raises G: advantage
