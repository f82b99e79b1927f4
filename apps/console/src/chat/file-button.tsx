import { useRef } from 'react';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icons.js';
import { t } from '../texts/texts.js';

interface FileButtonProps {
  isOff?: boolean;
  onFiles(files: readonly File[]): void;
}

/** Chooses files from the device. */
export function FileButton({ isOff, onFiles }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button
        className="icon-button quiet"
        aria-label={t('chat.files.attach')}
        title={t('chat.files.attach')}
        isOff={isOff}
        onClick={() => input.current?.click()}
      >
        <Icon name="clip" />
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={t('chat.files.files')}
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          // the same file may be chosen again
          target.value = '';
        }}
      />
    </>
  );
}
