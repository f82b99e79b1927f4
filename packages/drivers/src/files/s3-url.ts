/** The settings in a URL such as `s3://bucket/folder?endpoint=…&region=…`. */
export interface S3Settings {
  bucket: string;
  /** Prefix of each object's key; empty, or with a trailing slash. */
  prefix: string;
  endpoint: string | undefined;
  region: string;
  /** Undefined: the AWS SDK's own sources, which are the environment, its files and the machine's role. */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
}

/** @throws Error that does not repeat the URL, which may contain a secret */
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
