from __future__ import annotations

import pytest

from tare.loads.target import ForeignTarget, endpoint


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://198.18.0.2:8080", "http://198.18.0.2:8080/1k"),
        ("http://198.19.255.255:80/", "http://198.19.255.255:80/1k"),
        ("https://127.0.0.1:8443", "https://127.0.0.1:8443/1k"),
        ("http://127.8.0.1", "http://127.8.0.1/1k"),
        ("http://[::1]:8080", "http://[::1]:8080/1k"),
    ],
)
def test_addresses_of_a_lab_and_the_loopback_are_loaded(url: str, expected: str) -> None:
    assert endpoint(url, "/1k") == expected


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://198.20.0.1:8080", "the address 198.20.0.1"),
        ("http://10.0.0.1", "the address 10.0.0.1"),
        ("http://[2001:db8::1]:80", "the address 2001:db8::1"),
        ("http://[::ffff:10.0.0.1]:80", "the address ::ffff:a00:1"),
        ("http://example.org/", "the host 'example.org', which is no address"),
        ("http://localhost:8080", "the host 'localhost', which is no address"),
        ("http://0x7f.1:80", "the host '0x7f.1', which is no address"),
        ("http://127.0.0.1@10.0.0.1:80", "more than an address and a port"),
        ("http://127.0.0.1:80/1k?x", "more than an address and a port"),
        ("ftp://127.0.0.1", "the scheme 'ftp'"),
        ("127.0.0.1:8080", "the scheme ''"),
        ("http://127.0.0.1:port", "Port could not be cast to integer value as 'port'"),
        ("", "the scheme ''"),
    ],
)
def test_anything_else_is_refused_before_anything_is_sent(url: str, found: str) -> None:
    with pytest.raises(ForeignTarget) as caught:
        endpoint(url, "/")
    assert str(caught.value) == (
        f"no load is sent to {url!r}: expected http or https, and an address in 198.18.0.0/15 or of the loopback, "
        f"found {found}; let the service give an address of the lab, such as http://198.18.0.2:8080"
    )
