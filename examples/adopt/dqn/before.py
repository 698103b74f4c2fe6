"""A deep Q-network that learns to walk down a corridor. The world is numpy, the rest torch."""

import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

LENGTH, GAMMA, BATCH, EPISODES = 6, 0.95, 16, 6


class Corridor:
    """At the far end there is a reward; each step costs a little."""

    def reset(self):
        self.place = 0
        return self.observe()

    def observe(self):
        observation = np.zeros(LENGTH, dtype=np.float32)
        observation[self.place] = 1.0
        return observation

    def step(self, action):
        self.place = max(0, self.place + (1 if action == 1 else -1))
        done = self.place == LENGTH - 1
        return self.observe(), 1.0 if done else -0.05, done


class QNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(LENGTH, 32)
        self.fc2 = nn.Linear(32, 2)

    def forward(self, state):
        return self.fc2(F.relu(self.fc1(state)))


class Agent:
    def __init__(self):
        self.online = QNetwork()
        self.target = QNetwork()
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = optim.Adam(self.online.parameters(), lr=0.01)
        self.memory = deque(maxlen=500)

    def act(self, observation, epsilon):
        if random.random() < epsilon:
            return random.randrange(2)
        state = torch.from_numpy(observation).unsqueeze(0)
        self.online.eval()
        with torch.no_grad():
            values = self.online(state)
        self.online.train()
        return int(np.argmax(values.numpy()))

    def learn(self):
        if len(self.memory) < BATCH:
            return None
        sample = random.sample(self.memory, BATCH)
        states = torch.from_numpy(np.stack([each[0] for each in sample]))
        actions = torch.tensor([each[1] for each in sample]).unsqueeze(1)
        rewards = torch.tensor([each[2] for each in sample], dtype=torch.float32)
        following = torch.from_numpy(np.stack([each[3] for each in sample]))
        done = torch.tensor([each[4] for each in sample], dtype=torch.float32)

        with torch.no_grad():
            best = self.target(following).max(dim=1).values
        expected = rewards + GAMMA * best * (1 - done)
        values = self.online(states).gather(1, actions).squeeze(1)
        loss = F.smooth_l1_loss(values, expected)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    random.seed(0)
    torch.manual_seed(0)
    env, agent = Corridor(), Agent()
    for episode in range(EPISODES):
        observation, losses = env.reset(), []
        for _ in range(20):
            action = agent.act(observation, epsilon=0.5)
            following, reward, done = env.step(action)
            agent.memory.append((observation, action, reward, following, done))
            loss = agent.learn()
            if loss is not None:
                losses.append(loss)
            observation = following
            if done:
                break
        agent.target.load_state_dict(agent.online.state_dict())
        print(f"episode {episode}: loss {np.mean(losses) if losses else 0:.3f}")


if __name__ == "__main__":
    main()
