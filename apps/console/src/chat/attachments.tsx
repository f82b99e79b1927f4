import type { ChatMessage } from '@tandem/client';
import { Icon } from '../ui/icons.js';
import { numberText } from '../texts/formats.js';
import { t } from '../texts/texts.js';

type Attachment = ChatMessage['attachments'][number];
type Metadata = ChatMessage['metadata'];

const SHOWN_TYPES = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/avif', 'image/bmp']);
const UNITS = ['byte', 'kilobyte', 'megabyte'] as const;

/** A file as people know it, which the server does not keep: the console notes it in the message's metadata. */
export interface KnownFile {
  name: string;
  size: number;
}

/** What a message notes of its files, in their order. `before` is how many were noted until now. */
export function notedFiles(files: readonly Partial<KnownFile>[], before = files.length) {
  const noted: Record<string, string | number | null> = {};
  for (let at = 0; at < Math.max(files.length, before); at++) {
    noted[`fileName${at}`] = files[at]?.name?.slice(0, 200) ?? null;
    noted[`fileSize${at}`] = files[at]?.size ?? null;
  }
  return noted;
}

/** What is noted of a message's files; nothing unless of all, as when another program has added or removed one. */
export function knownFiles({ attachments, metadata }: Pick<ChatMessage, 'attachments' | 'metadata'>): (KnownFile | undefined)[] {
  const isNoted = (at: number) => typeof metadata[`fileName${at}`] === 'string' && typeof metadata[`fileSize${at}`] === 'number';
  const isAll = attachments.every((_, at) => isNoted(at)) && !isNoted(attachments.length);
  return attachments.map((_, at) => (isAll ? fileAt(metadata, at) : undefined));
}
const fileAt = (metadata: Metadata, at: number): KnownFile => ({
  name: metadata[`fileName${at}`] as string,
  size: metadata[`fileSize${at}`] as number,
});

export function sizeText(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1);
  const size = bytes / 1000 ** power;
  const digits = power === 0 || size >= 10 ? 0 : 1;
  return numberText(size, {
    style: 'unit',
    unit: UNITS[power] ?? 'byte',
    unitDisplay: power === 0 ? 'long' : 'short',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** The files of a message: pictures as such, others to download. */
export function Attachments({ message }: { message: ChatMessage }) {
  const { attachments } = message;
  if (attachments.length === 0) return null;
  const known = knownFiles(message);
  return (
    <ul className="attachments" aria-label={t('chat.files.attached')}>
      {attachments.map((one, at) => (
        <li key={one.id}>
          <Attached {...one} known={known[at]} />
        </li>
      ))}
    </ul>
  );
}

function Attached({ type, url, known }: Attachment & { known: KnownFile | undefined }) {
  const name = known?.name ?? kindOf(type);
  if (SHOWN_TYPES.has(type))
    return (
      <a href={url} target="_blank" rel="noreferrer" className="picture">
        <img src={url} alt={known?.name ?? t('chat.files.picture')} loading="lazy" />
      </a>
    );
  return (
    <a href={url} target="_blank" rel="noreferrer" download={known?.name ?? ''} className="file">
      <Icon name="file" />
      <span className="file-name">{name}</span>
      <span className="file-size">
        {known ? t('chat.files.sizeAndDownload', { size: sizeText(known.size) }) : t('chat.files.download')}
      </span>
    </a>
  );
}

/** A media type for people: `PDF file`. */
function kindOf(type: string): string {
  const [, kind = 'unknown'] = type.split('/');
  return kind.length > 6 ? t('chat.files.kindLong', { type }) : t('chat.files.kind', { kind: kind.toUpperCase() });
}
