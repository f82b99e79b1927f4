import { Button } from '../ui/button.js';
import { Failure } from '../ui/notices.js';
import { t } from '../texts/texts.js';

interface UndoProps {
  children: string;
  isOff: boolean;
  error: unknown;
  onUndo(): void;
  onEnd?(): void;
}

/** Says what was deleted, and offers to restore it. */
export function Undo({ children, isOff, error, onUndo, onEnd }: UndoProps) {
  return (
    <output className="notice notice-plain">
      <span>{children}</span>
      <span className="notice-actions">
        <Button className="link" isOff={isOff} onClick={onUndo}>
          {t('chat.undo.restore')}
        </Button>
        {onEnd && (
          <Button className="link" onClick={onEnd}>
            {t('chat.undo.dismiss')}
          </Button>
        )}
      </span>
      <Failure of={error} />
    </output>
  );
}
