import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PASSWORD } from '@tandem/testing';
import type { Express } from 'express';

type Call = (
  method: string,
  route: string,
  body?: object,
  headers?: Record<string, string>,
) => Promise<{ status: number; body: Record<string, unknown> | undefined }>;

/** A listening application, and its caller. */
export interface Listening extends AsyncDisposable {
  url: string;
  server: Server;
  call: Call;
}

/** Makes an application listen on a free port. */
export async function listen(app: Express): Promise<Listening> {
  const server = await new Promise<Server>((resolve) => {
    const made = app.listen(0, '127.0.0.1', () => resolve(made));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    server,
    async call(method, route, body, headers = {}) {
      const response = await fetch(url + route, {
        method,
        headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>) };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Registers and signs in a person. */
export async function signUp({ call }: Listening, email: string): Promise<{ id: string; authorization: string }> {
  const account = { email, password: PASSWORD };
  const { body } = await call('POST', '/auth/register', account);
  const login = await call('POST', '/auth/login', account);
  return { id: body?.id as string, authorization: `Bearer ${login.body?.accessToken as string}` };
}
