#!/bin/sh
# The program that the guest was given, with the libraries that came with it, if it needs any.
here=/usr/lib/stend
for loader in $here/lib/ld-*; do
  [ -e "$loader" ] && exec "$loader" --library-path $here/lib $here/bin/stend "$@"
done
exec $here/bin/stend "$@"
