/** What an address such as `s3://bucket/folder?endpoint=…&region=…` says. */
export interface S3Settings {
  bucket: string;
  /** Put before each object's id; empty, or with a slash at its end. */
  prefix: string;
  endpoint: string | undefined;
  region: string;
  /** Undefined: from where the AWS SDK looks for them, which is the environment, its files, the machine's role. */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
}

/** @throws Error that does not repeat the address, which may hold a secret */
export function readS3Url(url: string): S3Settings {
  const wrong = () => new Error('a files address must be disk: or s3://bucket, with endpoint and region in its query');
  if (!URL.canParse(url)) throw wrong();
  const { protocol, hostname, username, password, pathname, searchParams } = new URL(url);
  const endpoint = searchParams.get('endpoint') ?? undefined;
  const unknown = [...searchParams.keys()].some((name) => name !== 'endpoint' && name !== 'region');
  if (protocol !== 's3:' || hostname === '' || unknown || (username === '') !== (password === '')) throw wrong();
  if (endpoint !== undefined && !/^https?:\/\/./.test(endpoint)) throw wrong();
  const folder = pathname.replace(/^\/+|\/+$/g, '');
  return {
    bucket: hostname,
    prefix: folder === '' ? '' : `${folder}/`,
    endpoint,
    region: searchParams.get('region') ?? 'us-east-1',
    credentials:
      username === '' ? undefined : { accessKeyId: decodeURIComponent(username), secretAccessKey: decodeURIComponent(password) },
  };
}
