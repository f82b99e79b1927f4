import { useMe } from '../session/me.js';
import { useTitle } from '../ui/title.js';
import { AdminHome } from './admin-home.js';
import { OwnHome } from './own-home.js';
import { t } from '../texts/texts.js';
import './home.css';

/** The first view: of the whole business for admins, of what is one's own for others. */
export function HomeRoute() {
  useTitle(t('home.title'));
  const { data: me } = useMe();
  return (
    <>
      <header className="view-head">
        <h1>{t('home.title')}</h1>
      </header>
      {me?.isAdmin ? <AdminHome /> : <OwnHome />}
    </>
  );
}
