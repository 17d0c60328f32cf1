// Whether the browser is still signed in: a restarted server knows no session of the one before.

class Session {
  /** The last answer was that nobody is signed in. */
  ended = $state(false);
}

export const session = new Session();

/** The page for signing in, which leads back to where this one is. */
export const signIn = (at: URL): string => `/login?next=${encodeURIComponent(at.pathname + at.search)}`;
