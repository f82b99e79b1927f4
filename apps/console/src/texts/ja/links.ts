import type { texts as english } from '../en/links.js';
import type { Translated } from '../translated.js';

export const texts: Translated<typeof english> = {
  newPassword: '新しいパスワード',
  hasAccount: 'アカウントをお持ちの方',
  create: 'アカウントを作成する',
  passwordHint: '8文字以上。いくつかの単語を組み合わせると、覚えやすく推測されにくくなります',
  reset: {
    title: 'パスワードの再設定',
    send: 'リンクを送信',
    sent: '{email} のアカウントがある場合は、リンクをお送りします。リンクの有効期限は30分です。',
    choose: '新しいパスワードの設定',
    change: 'パスワードを変更',
    again: 'リンクを再送信',
    done: 'パスワードを変更し、すべての端末からサインアウトしました。新しいパスワードでサインインしてください。',
  },
  link: {
    incomplete: 'リンクが不完全です。メールのリンクを開くか、全体をコピーしてください。',
    goOn: '{brand} へ進む',
  },
  confirm: {
    title: 'メールアドレスの確認',
    text: 'このメールアドレスでアカウントが作成され、確認の依頼がありました。ご本人の場合は先へ進んでください。',
    action: 'メールアドレスを確認',
    done: 'メールアドレスを確認しました。ありがとうございます。',
    newTitle: '新しいメールアドレスの確認',
    newText: '今後、アカウントでこのメールアドレスを使用します。ご本人による変更の場合は先へ進んでください。',
    newAction: '新しいメールアドレスを確認',
    newDone: 'アカウントのメールアドレスを変更しました。',
  },
  invitation: {
    title: '招待',
    text: '招待が届いています。パスワードを設定してアカウントを作成してください。',
    signedIn: 'サインイン中です。このアカウントで招待を承諾しますか？',
    accept: '招待を承諾',
    accepted: '招待を承諾しました。',
    signIn: '招待を承諾するには、サインインしてください。',
  },
  returned: {
    failed: '認証できませんでした。もう一度試すか、別の方法を選んでください。',
    accessDenied: '許可されなかったため、何も変更されていません。',
    emailMissing: 'アカウントに必要なメールアドレスを取得できませんでした。',
    emailNotVerified:
      'メールアドレスが確認されていません。パスワードでアカウントを作成してから、このサービスと連携してください。',
    identityNotFound: 'このサービスと連携しているアカウントはまだありません。',
    accountLocked: 'このアカウントはロックされています。管理者に連絡してください。',
    another: '別の方法',
  },
};
