import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';

/** Leads elsewhere at once, and once: the router's own begins anew whenever it is drawn. */
export function Redirect({ to }: { to: string }) {
  const go = useNavigate();
  useEffect(() => void go({ to, replace: true }), [go, to]);
  return null;
}
