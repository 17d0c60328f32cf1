// Signs in with the code or the token of the link. What stands behind # is sent to no server and no log; it leaves the address, too.
const given = new URLSearchParams(location.hash.slice(1));
const token = given.get("code") ?? given.get("token");
if (token) {
  history.replaceState(null, "", location.pathname + location.search);
  const form = document.querySelector("form");
  form.elements.token.value = token;
  form.submit();
}
