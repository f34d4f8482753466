"""Single-file programs of .NET: the host, then the files, then a table of them."""

import json
import struct
import zlib

# No file of a program is larger, and no program has more files.
LARGEST = 256 << 20
MOST_FILES = 20_000
# Stands behind the offset of the table in the host.
SIGNATURE = bytes.fromhex("8b1202b96a612038727b930214d7a03213f5b9e6efae3318ee3b2dce24b36aae")


class BundleError(Exception):
    """What is wrong with a single-file program."""


class Table:
    """Reads the table of a single-file program; each read is checked against its end."""

    def __init__(self, data, at):
        self.data, self.at = data, at

    def read(self, layout):
        size = struct.calcsize(layout)
        if self.at < 0 or self.at + size > len(self.data):
            raise BundleError("the table of the single-file program leads out of the file")
        values = struct.unpack_from(layout, self.data, self.at)
        self.at += size
        return values

    def text(self):
        size = shift = 0
        while True:
            (byte,) = self.read("<B")
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
            if shift > 14:
                raise BundleError("a name in the single-file program is too long")
        return self.read(f"<{size}s")[0].decode()


def unbundle(data):
    """The files of a single-file program by name, and the host: what stands before them."""
    mark = data.find(SIGNATURE)
    if mark < 8:
        raise BundleError("the program is no single-file program of .NET")
    table = Table(data, struct.unpack_from("<q", data, mark - 8)[0])
    major, _minor, count = table.read("<IIi")
    table.text()
    if major != 6 or not 0 < count <= MOST_FILES:
        raise BundleError(f"the single-file program has version {major} and {count} files; version 6 is known")
    table.read("<qqqqQ")
    files, host = {}, len(data)
    for _ in range(count):
        offset, size, compressed, _kind = table.read("<qqqB")
        name = table.text()
        stored = compressed or size
        if not (0 < offset <= len(data) and 0 <= stored <= len(data) - offset and 0 <= size <= LARGEST):
            raise BundleError(f"{name} leads out of the single-file program")
        host = min(host, offset)
        files[name] = (offset, size, compressed)

    def content(name):
        offset, size, compressed = files[name]
        raw = data[offset:offset + (compressed or size)]
        if not compressed:
            return raw
        inflater = zlib.decompressobj(-15)
        try:
            plain = inflater.decompress(raw, size)
        except zlib.error as why:
            raise BundleError(f"{name} in the single-file program: {why}") from None
        if len(plain) != size or inflater.unconsumed_tail.strip(b"\0"):
            raise BundleError(f"{name} has another size than the table of the single-file program says")
        return plain

    return files, content, data[:host]


def single_file(about, host, core, name, assemblies, invariant):
    """The bytes of a program that has System.Private.CoreLib.dll (the path `core`) and the list of assemblies in itself, and runs NAME.dll beside it."""
    pack = f"runtimepack.Microsoft.NETCore.App.Runtime.linux-x64/{about['version']}"
    target = ".NETCoreApp,Version=v10.0/linux-x64"
    of_program = {"dependencies": {pack.split("/")[0]: about["version"]}, "runtime": {f"{name}.dll": {}}}
    of_pack = {"runtime": {file: {} for file in sorted(assemblies) if file != f"{name}.dll"}}
    library = {"type": "project", "serviceable": False, "sha512": ""}
    dependencies = {
        "runtimeTarget": {"name": target, "signature": ""},
        "targets": {target: {f"{name}/1.0.0": of_program, pack: of_pack}},
        "libraries": {f"{name}/1.0.0": library, pack: {**library, "type": "runtimepack"}},
    }
    options = {"tfm": "net10.0", "includedFrameworks": [{"name": "Microsoft.NETCore.App", "version": about["version"]}]}
    if invariant:
        options["configProperties"] = {"System.Globalization.Invariant": True}

    image = bytearray(host)
    old, new = about["program"].encode(), f"{name}.dll".encode()
    at = image.index(old + b"\0")
    # The host has room for a path of 1,024 bytes.
    image[at:at + max(len(old), len(new))] = new.ljust(len(old), b"\0")
    kinds = {"assembly": 1, "dependencies": 3, "options": 4}
    contents = [("assembly", "System.Private.CoreLib.dll", core.read_bytes()), ("dependencies", f"{name}.deps.json", json.dumps(dependencies).encode()),
                ("options", f"{name}.runtimeconfig.json", json.dumps({"runtimeOptions": options}).encode())]
    places, table = {}, b""
    for kind, file, content in contents:
        image += bytes(-len(image) % 4096)
        places[kind] = (len(image), len(content))
        table += struct.pack("<qqqB", len(image), len(content), 0, kinds[kind]) + text(file)
        image += content
    begin = len(image)
    image += struct.pack("<IIi", 6, 0, len(contents)) + text("silverpoint")
    image += struct.pack("<qqqqQ", *places["dependencies"], *places["options"], 0) + table
    mark = image.index(SIGNATURE)
    image[mark - 8:mark] = struct.pack("<q", begin)
    return bytes(image)


def text(value):
    """As the table writes names: a length of seven bits a byte, then UTF-8."""
    encoded = value.encode()
    if len(encoded) > 127:
        raise BundleError(f"the name of the program is too long: {value}")
    return bytes([len(encoded)]) + encoded
