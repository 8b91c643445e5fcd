"""Makes a certificate authority for one run, and one certificate for all servers of this machine."""

from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


def make_certificates(directory: Path, good_until: datetime | None = None) -> None:
    """Writes ca.pem, server.pem and server.key, valid for a day unless `good_until` is given."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "nexus cluster")])
    authority, server_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    until = good_until or datetime.now(UTC) + timedelta(days=1)

    def certificate_builder(subject: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(until - timedelta(days=2))
            .not_valid_after(until)
        )

    ca = certificate_builder("nexus cluster", authority).add_extension(x509.BasicConstraints(True, None), critical=True)
    alternative_name = x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))])
    server = certificate_builder("127.0.0.1", server_key).add_extension(alternative_name, critical=False)
    (directory / "ca.pem").write_bytes(ca.sign(authority, SHA256()).public_bytes(Encoding.PEM))
    (directory / "server.pem").write_bytes(server.sign(authority, SHA256()).public_bytes(Encoding.PEM))
    key = server_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (directory / "server.key").write_bytes(key)
