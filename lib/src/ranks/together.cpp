#include <ooc/detail/ranks/together.hpp>

#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/detail/base/threads.hpp>
#include <ooc/error.hpp>

#include <atomic>
#include <exception>
#include <new>
#include <stop_token>
#include <thread>
#include <utility>

#include "ranks/conversation.hpp"
#include "ranks/rank_share.hpp"

namespace ooc::detail {

void fail_with_current_error(Ranks& ranks) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    ranks.fail(error);
  } catch (const std::bad_alloc&) {
    ranks.fail({ErrorKind::memory, "out of memory"});
  } catch (const std::exception& error) {
    ranks.fail({ErrorKind::internal, error.what()});
  } catch (...) {
    ranks.fail({ErrorKind::internal, "an exception that is no std::exception"});
  }
}

void work_beside(const std::function<void()>& attend, const std::function<void()>& work) {
  std::exception_ptr error;
  std::atomic<bool> is_done{false};
  std::jthread worker = start_thread([&](const std::stop_token&) {
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
    is_done = true;
  });
  while (!is_done) {
    attend();
    Conversation::nap();
  }
  worker.join();
  if (error) std::rethrow_exception(error);
}

void do_as_first(Ranks* ranks, const std::function<void()>& work) {
  if (ranks == nullptr) return work();
  Conversation& talk = conversation_of(*ranks);
  talk.begin_job();
  if (talk.rank() == 0) {
    work_beside([&talk] { talk.attend(); }, work);
    talk.say_to_others(Word::total);
  } else {
    talk.await(Word::total, 0);
  }
}

std::vector<std::vector<std::byte>> exchange(Ranks* ranks, std::vector<std::byte> said,
                                             const std::function<void()>& meanwhile) {
  std::vector<std::vector<std::byte>> all;
  if (ranks == nullptr) {
    all.push_back(std::move(said));
    return all;
  }
  Conversation& talk = conversation_of(*ranks);
  talk.restart_timeout();
  if (talk.rank() != 0) {
    talk.say(0, Word::part, std::move(said));
    const Letter letter = talk.await(Word::total, 0, meanwhile);
    ByteReader in(letter.bytes);
    for (std::size_t rank = 0; rank < talk.size(); ++rank) {
      const auto bytes = in.take_bytes(in.take<std::uint64_t>());
      all.emplace_back(bytes.begin(), bytes.end());
    }
    return all;
  }
  all.push_back(std::move(said));
  for (std::size_t rank = 1; rank < talk.size(); ++rank) {
    all.push_back(talk.await(Word::part, rank, meanwhile).bytes);
  }
  std::vector<std::byte> total;
  for (const std::vector<std::byte>& bytes : all) {
    append_bytes(total, std::uint64_t{bytes.size()});
    append_span(total, bytes);
  }
  talk.say_to_others(Word::total, total);
  return all;
}

std::vector<RankShare> exchange_shares(Ranks& ranks, RankShare share) {
  share.rank = ranks.rank();
  share.host = conversation_of(ranks).host();
  std::vector<std::byte> own;
  save_share(own, share);
  std::vector<RankShare> shares;
  for (const std::vector<std::byte>& bytes : exchange(&ranks, std::move(own))) {
    ByteReader in(bytes);
    shares.push_back(take_share(in));
  }
  complete(shares);
  return shares;
}

std::vector<std::string> exchange_remarks(Ranks& ranks, std::span<const std::string> remarks) {
  std::vector<std::byte> own;
  append_bytes(own, std::uint64_t{remarks.size()});
  for (const std::string& remark : remarks) {
    append_text(own, ranks.is_first() ? remark : ranks.name() + ": " + remark);
  }
  std::vector<std::string> all;
  for (const std::vector<std::byte>& bytes : exchange(&ranks, std::move(own))) {
    ByteReader in(bytes);
    for (std::size_t left = in.take_count(sizeof(std::uint64_t)); left != 0; --left) {
      all.push_back(take_text(in));
    }
  }
  return all;
}

std::uint64_t share_progress(Ranks* ranks, std::uint64_t done) {
  if (ranks == nullptr) return done;
  Conversation& talk = conversation_of(*ranks);
  talk.set_progress(done);
  return talk.progress();
}

Error needs_one_rank(std::string why) {
  return {ErrorKind::usage,
          "this job does not run on several ranks",
          {.why = std::move(why), .hint = "run it on one"}};
}

void require_one_rank(const Ranks* ranks) {
  if (ranks != nullptr && ranks->size() > 1) throw needs_one_rank("each would do all of it");
}

}  // namespace ooc::detail
