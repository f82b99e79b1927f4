import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** The versions of the protocol that are tested: the current one, and that of clients of 2025. */
export const MCP_VERSIONS = ['2026-07-28', '2025-11-25'] as const;
export type McpVersion = (typeof MCP_VERSIONS)[number];

/** What `call_operation` gives: what REST answers. */
export interface McpAnswer {
  status: number;
  body?: unknown;
  errorCode?: string;
  retryAfter?: number;
}

/** The official client, connected. Closes with `await using`. */
export async function connectMcp(
  url: string,
  {
    accessToken,
    version = '2026-07-28',
    headers = {},
  }: { accessToken?: string; version?: McpVersion; headers?: Record<string, string> } = {},
) {
  const mode = version === '2025-11-25' ? ('legacy' as const) : { pin: version };
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const sent = { ...(accessToken !== undefined && { authorization: `Bearer ${accessToken}` }), ...headers };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers: sent } }));
  return {
    client,
    /** The result of a tool. */
    tool: (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args }),
    /** What REST would answer. */
    async call(operation: string, input?: unknown): Promise<McpAnswer> {
      const result = await client.callTool({ name: 'call_operation', arguments: { operation, input } });
      return result.structuredContent as McpAnswer;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
export type McpClient = Awaited<ReturnType<typeof connectMcp>>;
