// Whether the browser is still signed in: a restarted server knows no session of the one before.

class Session {
  /** By the last answer the browser is signed out. */
  ended = $state(false);
}

export const session = new Session();

/** The page for signing in, which leads back to where this one is. */
export const signIn = (at: URL): string => `/login?next=${encodeURIComponent(at.pathname + at.search)}`;
