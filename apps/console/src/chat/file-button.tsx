import { useRef } from 'react';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icons.js';

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
        aria-label="Attach files"
        title="Attach files"
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
        aria-label="Files"
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          // the same file may be chosen again
          target.value = '';
        }}
      />
    </>
  );
}
