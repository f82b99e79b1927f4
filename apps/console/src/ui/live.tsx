/** Whether what is shown changes by itself, or waits for the connection to come back. */
export function Live({ is }: { is: boolean }) {
  return <span className={is ? 'live' : 'live live-off'}>{is ? 'Live' : 'Connecting…'}</span>;
}
