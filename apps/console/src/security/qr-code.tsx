import { useQuery } from '@tanstack/react-query';
import type { QRCode } from 'qrcode';

/** White space around the code, in modules, which scanners need. */
const MARGIN = 4;

/** Draws its dark modules as one path, row by row. */
function drawing({ modules }: QRCode): { size: number; path: string } {
  const { size } = modules;
  const dark = [...modules.data].flatMap((isDark, at) =>
    isDark ? [`M${MARGIN + (at % size)} ${MARGIN + Math.floor(at / size)}h1v1h-1z`] : [],
  );
  return { size: size + 2 * MARGIN, path: dark.join('') };
}

/** A text as a QR code: always dark on light, as scanners expect it. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { data } = useQuery({
    queryKey: ['qr code', text],
    queryFn: async () => drawing((await import('qrcode')).create(text, { errorCorrectionLevel: 'M' })),
    gcTime: 0,
  });
  if (!data) return <div className="qr-code" />;
  return (
    <svg className="qr-code" viewBox={`0 0 ${data.size} ${data.size}`} shapeRendering="crispEdges">
      <title>{label}</title>
      <rect width="100%" height="100%" fill="#fff" />
      <path d={data.path} fill="#000" />
    </svg>
  );
}
