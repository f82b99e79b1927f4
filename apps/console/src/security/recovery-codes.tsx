import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';

/** New recovery codes, shown this once, to be printed or copied. */
export function RecoveryCodes({ codes, email, onClose }: { codes: readonly string[]; email: string; onClose(): void }) {
  return (
    <Dialog title="Your recovery codes" onClose={onClose}>
      <p>
        Each of them signs you in once, when you have lost your phone or passkey. Keep them where nobody else finds them. They are
        not shown again.
      </p>
      <div className="printed">
        <p className="printed-only">
          Recovery codes of {email} at {location.host}
        </p>
        <ol className="codes" aria-label="Recovery codes">
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ol>
      </div>
      <div className="dialog-actions">
        <Button onClick={() => print()}>Print</Button>
        <Button onClick={() => void navigator.clipboard.writeText(codes.join('\n'))}>Copy</Button>
        <Button className="primary" onClick={onClose}>
          I have them
        </Button>
      </div>
    </Dialog>
  );
}
