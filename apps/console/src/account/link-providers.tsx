import { useState } from 'react';
import { useIdentityId, useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { Field } from '../ui/field.js';
import { Icon } from '../ui/icons.js';
import { t } from '../texts/texts.js';
import { ActionForm } from './form.js';
import { providerName, useReturnUrl } from './providers.js';

/** Begins to link accounts at the configured identity providers to one's own: the browser goes there, and comes back. */
export function LinkProviders() {
  const { client, settings } = useSession();
  const identityId = useIdentityId();
  const returnUrl = useReturnUrl();
  const [provider, choose] = useState<string>();
  if (returnUrl === undefined) return null;
  const redirectUrl = `${returnUrl}?${new URLSearchParams({ purpose: 'link', to: '/account?tab=providers' }).toString()}`;
  return (
    <>
      {settings.providers.map((name) => (
        <Button key={name} onClick={() => choose(name)}>
          <Icon name="plus" /> {t('account.providers.link', { provider: providerName(name) })}
        </Button>
      ))}
      {provider !== undefined && (
        <Dialog title={t('account.providers.link', { provider: providerName(provider) })} onClose={() => choose(undefined)}>
          <p>{t('account.providers.linkWhat')}</p>
          <ActionForm
            action={t('account.providers.linkAction')}
            run={async (fields) => {
              const { password = '' } = fields;
              const given = { identityId, provider, redirectUrl, ...(password !== '' && { password }) };
              const { url } = await client.api.auth.linkProvider.mutate(given);
              location.assign(url);
            }}
          >
            <Field
              label={t('account.providers.password')}
              name="password"
              type="password"
              autoComplete="current-password"
              hint={t('account.providers.passwordHint')}
            />
          </ActionForm>
        </Dialog>
      )}
    </>
  );
}
