# CycloneDX of lines `name@version`, licence, SHA-256. Some crates separate licences by a slash.
def purl: "pkg:cargo/\(.[0])@\(.[1])";
{
  bomFormat: "CycloneDX",
  specVersion: "1.5",
  version: 1,
  metadata: {
    timestamp: $time,
    component: {
      type: "application", "bom-ref": "stend", name: "stend", version: $version,
      licenses: [{license: {id: "Apache-2.0"}}]
    }
  },
  components: [
    inputs | split("\t") | (.[0] | split("@")) as $crate | {
      type: "library", "bom-ref": ($crate | purl), name: $crate[0], version: $crate[1], purl: ($crate | purl),
      hashes: [{alg: "SHA-256", content: .[2]}],
      licenses: [{expression: (.[1] | gsub(" */ *"; " OR "))}]
    }
  ]
}
