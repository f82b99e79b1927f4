import { Button } from '../ui/button.js';
import { failureText } from '../ui/failure-text.js';
import { Icon } from '../ui/icons.js';
import { sizeText } from './attachments.js';
import { useChat } from './chat.js';
import { useDraft } from './drafts.js';
import { Thumbnail } from './thumbnail.js';
import { detach } from './uploads.js';
import { t } from '../texts/texts.js';

/** The files that a message is to have, each with how far its upload has come. */
export function DraftFiles({ place }: { place: string }) {
  const { drafts } = useChat();
  const { files } = useDraft(drafts, place);
  if (files.length === 0) return null;
  return (
    <ul className="draft-files" aria-label={t('chat.files.toSend')}>
      {files.map(({ id, file, progress, uploaded, error }) => (
        <li key={id} className={error === undefined ? 'draft-file' : 'draft-file draft-file-bad'}>
          <Thumbnail of={file} />
          <span className="file-name">{file.name}</span>
          {error !== undefined && (
            <span className="file-size" role="alert">
              {failureText(error)}
            </span>
          )}
          {error === undefined && uploaded === undefined && (
            <progress value={progress} aria-label={t('chat.files.upload', { name: file.name })} />
          )}
          {uploaded !== undefined && <span className="file-size">{sizeText(file.size)}</span>}
          <Button
            className="icon-button quiet"
            aria-label={t('chat.files.remove', { name: file.name })}
            onClick={() => detach(drafts, place, id)}
          >
            <Icon name="close" />
          </Button>
        </li>
      ))}
    </ul>
  );
}
