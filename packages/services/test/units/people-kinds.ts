import { PASSWORD, type Person, type TestServer } from '@tandem/testing';
import { expect } from 'vitest';
import type { Stands, UnitKind, UnitWorld } from './unit-world.js';

/** The units of identities, profiles, channels, change requests and invitations. @param admin whose token is of this hour */
export function peopleKinds(home: () => TestServer, admin: () => Person, world: UnitWorld): Record<string, UnitKind> {
  const { send, made, rows, statusOf, named, bodyOf, reviveAndPatch, reviveAndDelete, found } = world;
  async function someoneWithAll() {
    const { id: bob } = await home().signUp();
    const [profile, channel] = [
      await made('/profiles', { identityId: bob, name: 'Bob' }),
      await made('/channels', { name: 'Tea', ownerId: admin().id }),
    ];
    await made('/subscriptions', { channelId: channel, subscribedId: bob });
    return { bob, profile, channel };
  }
  const lookAtSomeone = async ({ bob, profile, channel }: Record<string, string>) => ({
    identity: await statusOf(`/identities/${bob}`),
    profile: await statusOf(`/profiles/${profile}`),
    // with the admin's
    members: (await rows(`/subscriptions?channelId=${channel}`)).length,
  });

  async function profileThatFollows() {
    const { id: bob } = await home().signUp();
    const [profile, other] = [
      await made('/profiles', { identityId: bob, name: 'Bob' }),
      await made('/profiles', { identityId: admin().id, name: 'Ann' }),
    ];
    await send('PUT', `/profiles/${profile}/profile-follows/${other}`).expect(204);
    return { profile, other };
  }
  const lookAtProfile = async ({ profile, other }: Record<string, string>) => ({
    profile: await statusOf(`/profiles/${profile}`),
    followers: (await rows(`/profiles/${other}/followers`)).length,
  });

  const aChannel = async () => ({ channel: await made('/channels', { name: 'Tea', ownerId: admin().id }) });
  const lookAtChannel = async ({ channel }: Record<string, string>) => ({
    channel: await statusOf(`/channels/${channel}`),
    members: (await rows(`/subscriptions?channelId=${channel}`)).length,
  });

  const lookAtAccounts = async ({ organization }: Record<string, string>) => ({
    accounts: (await rows(`/organizations/${organization}/service-accounts`)).map(({ role }) => role),
    members: (await rows(`/organizations/${organization}/members`)).length,
  });

  async function invited(email: string) {
    const organization = await found();
    const invitation = await made('/invitations', { email, organizationId: organization, role: 'admin' });
    const { token = '' } = await home().mail.next(email);
    return { organization, invitation, token, email };
  }
  const membersOf = async (organization = '') =>
    (await rows(`/organizations/${organization}/members`)).map(({ identityId }) => String(identityId));
  const lookAtInvited = async ({ organization, invitation, email }: Record<string, string>) => ({
    accounts: (await rows(`/identities?$filter=email eq '${email}'`)).map(({ emailVerified }) => emailVerified),
    members: (await membersOf(organization)).length,
    invitation: (await bodyOf(`/invitations/${invitation}`))['status'],
  });
  /** Removes the new member, where there is one. */
  async function removeMember({ organization }: Record<string, string>): Promise<Stands> {
    const member = (await membersOf(organization)).find((id) => id !== admin().id);
    if (member === undefined) return async () => {};
    await send('DELETE', `/organizations/${organization}/members/${member}`).expect(204);
    return async () => expect(await membersOf(organization)).toEqual([admin().id]);
  }

  const foundBy = (name = '') => rows(`/organizations?$filter=name eq '${name}'`);
  const askFor = { branchName: 'asked', typeId: 'asked' };
  const requestsOf = (organization = '') => rows(`/organizations/${organization}/change-requests`);
  const lookAtRequests = async ({ organization }: Record<string, string>) => {
    const { branchName, typeId, auditStatus } = await bodyOf(`/organizations/${organization}`);
    return { branchName, typeId, auditStatus, requests: (await requestsOf(organization)).map(({ status }) => status) };
  };

  return {
    'identities.delete': {
      prepare: someoneWithAll,
      request: ({ bob }) => ['DELETE', `/identities/${bob}`],
      look: lookAtSomeone,
      async change(given) {
        const stands = await reviveAndPatch(`/identities/${given['bob']}`, { emailVerified: true });
        return async () => {
          await stands();
          expect(await lookAtSomeone(given)).toEqual({ identity: 200, profile: 200, members: 2 });
        };
      },
    },
    'identities.restore': {
      async prepare() {
        const given = await someoneWithAll();
        await send('DELETE', `/identities/${given.bob}`).expect(204);
        return given;
      },
      request: ({ bob }) => ['POST', `/identities/${bob}/restore`],
      look: lookAtSomeone,
      async change(given) {
        await reviveAndDelete(`/identities/${given['bob']}`);
        return async () => expect(await lookAtSomeone(given)).toEqual({ identity: 404, profile: 404, members: 1 });
      },
    },
    'profiles.create': {
      prepare: async () => ({ bob: (await home().signUp()).id }),
      request: ({ bob }) => ['POST', '/profiles', { identityId: bob, name: 'Bob' }],
      look: ({ bob }) => named(`/profiles?identityId=${bob}`),
      async change({ bob }) {
        const [profile] = await rows(`/profiles?identityId=${bob}`);
        if (!profile) return async () => expect(await rows(`/profiles?identityId=${bob}`)).toEqual([]);
        return reviveAndPatch(`/profiles/${String(profile['id'])}`, { name: 'newer' });
      },
    },
    'profiles.delete': {
      prepare: profileThatFollows,
      request: ({ profile }) => ['DELETE', `/profiles/${profile}`],
      look: lookAtProfile,
      async change(given) {
        const stands = await reviveAndPatch(`/profiles/${given['profile']}`, { name: 'newer' });
        return async () => {
          await stands();
          expect(await lookAtProfile(given)).toEqual({ profile: 200, followers: 1 });
        };
      },
    },
    'profiles.restore': {
      async prepare() {
        const given = await profileThatFollows();
        await send('DELETE', `/profiles/${given.profile}`).expect(204);
        return given;
      },
      request: ({ profile }) => ['POST', `/profiles/${profile}/restore`],
      look: lookAtProfile,
      change: ({ profile }) => reviveAndDelete(`/profiles/${profile}`),
    },
    'channels.create': {
      prepare: async () => ({ bob: (await home().signUp()).id }),
      request: ({ bob }) => ['POST', '/channels', { name: 'Tea', ownerId: bob }],
      look: async ({ bob }) => [
        await named(`/channels?ownerId=${bob}`),
        (await rows(`/subscriptions?subscribedId=${bob}`)).length,
      ],
      async change({ bob }) {
        const [channel] = await rows(`/channels?ownerId=${bob}`);
        if (!channel) return async () => expect(await rows(`/channels?ownerId=${bob}`)).toEqual([]);
        const [member] = await rows(`/subscriptions?subscribedId=${bob}`);
        await send('DELETE', `/subscriptions/${String(member?.['id'])}`).expect(204);
        const stands = await reviveAndPatch(`/channels/${String(channel['id'])}`, { name: 'newer' });
        return async () => {
          await stands();
          expect(await rows(`/subscriptions?subscribedId=${bob}`)).toEqual([]);
        };
      },
    },
    'channels.delete': {
      prepare: aChannel,
      request: ({ channel }) => ['DELETE', `/channels/${channel}`],
      look: lookAtChannel,
      async change(given) {
        const stands = await reviveAndPatch(`/channels/${given['channel']}`, { name: 'newer' });
        return async () => {
          await stands();
          expect(await lookAtChannel(given)).toEqual({ channel: 200, members: 1 });
        };
      },
    },
    'channels.restore': {
      async prepare() {
        const given = await aChannel();
        await send('DELETE', `/channels/${given.channel}`).expect(204);
        return given;
      },
      request: ({ channel }) => ['POST', `/channels/${channel}/restore`],
      look: lookAtChannel,
      change: ({ channel }) => reviveAndDelete(`/channels/${channel}`),
    },
    'organizations.create': {
      prepare: async () => ({ name: crypto.randomUUID() }),
      request: ({ name }) => [
        'POST',
        '/organizations',
        { organization: { name, description: '', contact_email: 'a@example.org' } },
      ],
      look: async ({ name }) => (await foundBy(name)).length,
      async change({ name }) {
        const [organization] = await foundBy(name);
        if (!organization) return async () => expect(await foundBy(name)).toEqual([]);
        return reviveAndPatch(`/organizations/${String(organization['id'])}`, { branchName: 'newer' });
      },
    },
    'serviceAccounts.create': {
      prepare: async () => ({ organization: await found() }),
      request: ({ organization }) => ['POST', `/organizations/${organization}/service-accounts`, { name: 'Till', role: 'admin' }],
      look: lookAtAccounts,
      async change(given) {
        const path = `/organizations/${given['organization']}`;
        const [account] = await rows(`${path}/service-accounts`);
        if (!account) return reviveAndPatch(path, { branchName: 'newer' });
        await send('DELETE', `${path}/service-accounts/${String(account['id'])}`).expect(204);
        return async () => expect(await lookAtAccounts(given)).toEqual({ accounts: [], members: 1 });
      },
    },
    'organizations.request change': {
      prepare: async () => ({ organization: await found() }),
      request: ({ organization }) => ['POST', `/organizations/${organization}/change-requests`, askFor],
      look: lookAtRequests,
      async change(given) {
        const path = `/organizations/${given['organization']}`;
        const [request] = await requestsOf(given['organization']);
        if (!request) return reviveAndPatch(path, { branchName: 'newer' });
        await send('POST', `${path}/change-requests/${String(request['id'])}/approve`).expect(200);
        return async () =>
          expect(await lookAtRequests(given)).toEqual({ ...askFor, auditStatus: 'approved', requests: ['approved'] });
      },
    },
    'organizations.decide change': {
      async prepare() {
        const organization = await found();
        return { organization, request: await made(`/organizations/${organization}/change-requests`, askFor) };
      },
      request: ({ organization, request }) => ['POST', `/organizations/${organization}/change-requests/${request}/approve`],
      look: lookAtRequests,
      change: ({ organization }) => reviveAndPatch(`/organizations/${organization}`, { branchName: 'newer' }),
    },
    'invitations.review': {
      async prepare() {
        const organization = await found();
        const inviter = await home().signUp({ isVerified: true });
        const members = [{ identityId: inviter.id, role: 'admin' }];
        await send('PATCH', `/organizations/${organization}/members`, members).expect(204);
        const body = { email: `${crypto.randomUUID()}@example.org`, organizationId: organization, role: 'member' };
        const { id: invitation } = await inviter.rest('POST', '/invitations', body).expect<{ id: string }>(201);
        return { organization, invitation, inviter: inviter.id };
      },
      request: ({ organization, inviter }) => ['DELETE', `/organizations/${organization}/members/${inviter}`],
      look: async ({ organization, invitation }) => ({
        members: (await membersOf(organization)).length,
        invitation: (await bodyOf(`/invitations/${invitation}`))['status'],
      }),
      async change({ organization, inviter }) {
        const members = [{ identityId: inviter, role: 'owner' }];
        await send('PATCH', `/organizations/${organization}/members`, members).expect(204);
        return async () => expect(await membersOf(organization)).toHaveLength(2);
      },
    },
    'register by invitation': {
      prepare: () => invited(`${crypto.randomUUID()}@example.org`),
      request: ({ token }) => ['POST', '/auth/register', { token, password: PASSWORD }],
      look: lookAtInvited,
      change: removeMember,
    },
    'accept invitation': {
      async prepare() {
        const { email, accessToken } = await home().signUp();
        return { ...(await invited(email)), accessToken };
      },
      request: ({ token }) => ['POST', '/invitations/accept', { token }],
      async look(given) {
        // an address that the token has proved stays so
        const { accounts, ...seen } = await lookAtInvited(given);
        return { ...seen, accounts: accounts.length };
      },
      change: removeMember,
    },
  };
}
