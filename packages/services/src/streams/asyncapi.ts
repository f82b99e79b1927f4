import { ACCESS_COOKIE, CLOSE, ErrorFrame, PROTOCOL_CLOSE, PongFrame, type AuthMode, type CookiePrefix } from '@tandem/core';
import { z } from 'zod';
import { ChatClientFrame, ChatServerFrame } from './chat-frames.js';
import { NotificationClientFrame, NotificationServerFrame } from './notification-frames.js';

type Json = Record<string, unknown>;
export type AsyncApiDocument = Json;

/** What the document says of the server that publishes it. */
export interface AsyncApiOptions {
  title: string;
  description: string;
  version: string;
  /** URL of the server, without a trailing slash; a relative one leaves out where it is. */
  url: string;
}
interface Facts {
  authModeOf(service: string): AuthMode;
  cookiePrefix?: CookiePrefix | undefined;
  /** The exposed services. */
  names: readonly string[];
  /** Adds the fields that a host declares. */
  extended<Schema extends z.ZodType>(schema: Schema): Schema;
}

/** A frame's schema: an object with a literal `type`. */
type Frame = z.ZodObject<{ type: z.ZodLiteral<string> }>;

interface StreamDescription {
  /** The service that it belongs to, whose auth mode applies. */
  service: string;
  name: string;
  address: string;
  description: string;
  query: Json;
  fromClient: readonly z.ZodObject[];
  fromServer: readonly z.ZodObject[];
}

const id = { type: 'string', format: 'uuid' };

/** Every stream with every frame; the schemas are those by which frames are checked and typed. */
const STREAMS: readonly StreamDescription[] = [
  {
    service: 'chat',
    name: 'messages',
    address: '/messages/listen',
    description: 'Messages and events of channels.',
    query: { channelId: { type: 'array', items: id, maxItems: 100, description: 'Channels to subscribe to at once.' } },
    fromClient: ChatClientFrame.options,
    fromServer: ChatServerFrame.options,
  },
  {
    service: 'notifications',
    name: 'notifications',
    address: '/notifications/listen',
    description: "One's own notifications.",
    query: { since: { ...id, description: 'The notification after which a replay begins.' } },
    fromClient: NotificationClientFrame.options,
    fromServer: [...NotificationServerFrame.options, ErrorFrame, PongFrame],
  },
];

/** Collects the schemas that have a name; references lead to them. */
function createSchemas() {
  const schemas: Record<string, unknown> = {};
  return {
    schemas,
    of(schema: z.ZodType, io: 'input' | 'output'): Json {
      const { $schema: _, $defs = {}, ...json } = z.toJSONSchema(schema, { io });
      const text = JSON.stringify({ $defs, json }).replaceAll('"#/$defs/', '"#/components/schemas/');
      const lifted = JSON.parse(text) as { $defs: Record<string, Json>; json: Json };
      for (const [name, one] of Object.entries(lifted.$defs)) {
        const { id: _id, ...named } = one;
        schemas[name] = named;
      }
      return lifted.json;
    },
  };
}

const CLOSES = [...Object.values(CLOSE), ...Object.values(PROTOCOL_CLOSE)].map(([code, reason]) => ({ code, reason }));

/** Makes the AsyncAPI 3 document of the streams, from the server's view: it sends and receives frames. */
export function createAsyncApiDocument({ title, description, version, url }: AsyncApiOptions, facts: Facts): AsyncApiDocument {
  const { schemas, of } = createSchemas();
  const streams = STREAMS.filter(({ service }) => facts.names.includes(service));
  const messages: Record<string, Json> = {};

  /** Adds frames; returns the references to them in a channel. */
  function add({ name }: StreamDescription, frames: readonly z.ZodObject[], by: 'client' | 'server'): string[] {
    return frames.map((frame) => {
      const { description: summary, ...payload } = of(facts.extended(frame), by === 'client' ? 'input' : 'output');
      const type = (frame as unknown as Frame).shape.type.value;
      const key = `${name}.${by}.${type}${frame.shape['self'] instanceof z.ZodLiteral ? '.self' : ''}`;
      messages[key] = { name: type, ...(summary !== undefined && { summary }), payload };
      return key;
    });
  }

  const channels: Record<string, Json> = {};
  const operations: Record<string, Json> = {};
  for (const stream of streams) {
    const { name, address, query, service } = stream;
    const ticket = { type: 'string', description: 'A ticket, in place of other credentials.' };
    const frames = { receive: add(stream, stream.fromClient, 'client'), send: add(stream, stream.fromServer, 'server') };
    const all = [...frames.receive, ...frames.send];
    channels[name] = {
      address,
      description: stream.description,
      messages: Object.fromEntries(all.map((key) => [key, { $ref: `#/components/messages/${key}` }])),
      bindings: { ws: { method: 'GET', query: { type: 'object', properties: { ...query, ticket } }, bindingVersion: '0.1.0' } },
      'x-close-codes': CLOSES,
    };
    for (const [action, keys] of Object.entries(frames))
      operations[`${name}.${action}`] = {
        action,
        channel: { $ref: `#/channels/${name}` },
        summary: action === 'send' ? 'Frames that the server sends.' : 'Frames that clients send.',
        security: [...new Set([facts.authModeOf(service), 'bearer', 'ticket'])].map((scheme) => ({
          $ref: `#/components/securitySchemes/${scheme}`,
        })),
        messages: keys.map((key) => ({ $ref: `#/channels/${name}/messages/${key}` })),
      };
  }

  const location = URL.canParse(url) ? new URL(url) : undefined;
  const server = location && {
    host: location.host,
    pathname: location.pathname,
    protocol: location.protocol === 'https:' ? 'wss' : 'ws',
  };
  const modes = new Set(streams.map(({ service }) => facts.authModeOf(service)));
  return {
    asyncapi: '3.0.0',
    info: { title, description, version },
    defaultContentType: 'application/json',
    ...(server && { servers: { tandem: server } }),
    channels,
    operations,
    components: {
      messages,
      schemas,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: modes.has('bearer') ? 'The access token, or an API key.' : 'An API key.',
        },
        ...(modes.has('cookie') && {
          cookie: {
            type: 'httpApiKey',
            in: 'cookie',
            name: (facts.cookiePrefix ?? '') + ACCESS_COOKIE,
            description: 'The access token.',
          },
        }),
        ticket: { type: 'httpApiKey', in: 'query', name: 'ticket', description: 'Opens one stream, once, within 30 seconds.' },
      },
    },
  };
}
