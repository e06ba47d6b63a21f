"""A wrong address of a cluster is refused in one sentence, before Ray is asked."""

from __future__ import annotations

import socket
import threading

import pytest

from robgui.batch.address import check_answer, read_address, within
from robgui.batch.cluster import Cluster
from robgui.core.errors import ParamsError
from tests.patience import Stopwatch


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("auto", None),
        ("local", None),
        ("10.0.0.5:6379", ("10.0.0.5", 6379)),
        ("head-1.lab.example:6379", ("head-1.lab.example", 6379)),
        ("[::1]:6379", ("::1", 6379)),
    ],
)
def test_words_and_addresses_are_understood(text, place):
    assert read_address(text) == place


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "10.0.0.5",
        "10.0.0.5:",
        "10.0.0.5:0",
        "10.0.0.5:70000",
        "http://a:1",
        "a b:6379",
        "::1:6379",
    ],
)
def test_what_is_no_address_is_refused_with_an_example(text):
    with pytest.raises(
        ParamsError, match=r"^'.*' is no address of a Ray cluster; .* such as 10\.0\.0\.5:6379\.$"
    ):
        Cluster(text)


def test_a_ray_client_address_is_refused_with_the_reason():
    with pytest.raises(ParamsError, match="cannot stream results"):
        Cluster("ray://10.0.0.5:10001")


def test_an_address_where_nothing_answers_is_refused_at_once():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(
            ParamsError, match=rf"There is no Ray cluster at {place} \(.*\); check the address"
        ):
            check_answer(place)
    check_answer("auto")


def test_a_loopback_address_is_tried_where_ray_will_look_for_it():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        check_answer(f"127.0.0.1:{port}")
        with pytest.raises(ParamsError) as caught:
            check_answer(f"127.0.0.1:{port}", "127.0.0.2")
    assert str(caught.value) == (
        f"Ray looks for 127.0.0.1:{port} at 127.0.0.2:{port}, and nothing answers there"
        " (Connection refused); start its head with --node-ip-address=127.0.0.2, or give the"
        " address it has."
    )


def test_a_connection_that_never_comes_about_is_told_in_time():
    never = threading.Event()
    with (
        Stopwatch() as watch,
        pytest.raises(ParamsError, match=r"but no Ray cluster within 0\.3 s"),
    ):
        within(0.3, never.wait, "10.0.0.5:6379")
    assert watch.seconds < 3
    never.set()


def test_what_a_connection_raises_is_raised_and_success_says_nothing():
    within(10, lambda: None, "10.0.0.5:6379")
    with pytest.raises(ConnectionError, match="no way"):
        within(10, lambda: (_ for _ in ()).throw(ConnectionError("no way")), "10.0.0.5:6379")


def test_a_host_that_does_not_exist_is_refused_in_words():
    with pytest.raises(ParamsError, match=r"There is no Ray cluster at nowhere\.invalid:6379"):
        check_answer("nowhere.invalid:6379")
